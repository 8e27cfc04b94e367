"""Few equations with whole coefficients, of which only what is missing costs: met in the middle.

The columns are put into four lists whose sums are enumerated in pairs, and a pair of the first two
meets one of the others where together they give the sides of all equations, less deviations that
cost less than the best point (Horowitz and Sahni 1974; Schroeppel and Shamir 1981; in classes by a
residue, as Howgrave-Graham and Joux, "New generic algorithms for hard knapsacks", 2010, so that
what is searched at a time fits into a cache). So the market-split models of Cornuejols and Dawande,
on which tree search and local search come nowhere, are searched through: 2^50 points in the time
of 2^25 for each deviation.
"""
