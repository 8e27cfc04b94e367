"""The simplex method with everything on the device: a dense inverse with delayed updates."""
