# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Primes

# %% nbgrader={"grade": false, "grade_id": "is-prime", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_prime(n):
    """Whether the whole number n is a prime."""
    ### BEGIN SOLUTION
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "is-prime-shown", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert is_prime(7) and not is_prime(8)

# %% nbgrader={"grade": true, "grade_id": "is-prime-hidden", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
# More numbers are tried when you are graded; each is worth a part.
### BEGIN HIDDEN TESTS
tried = {0: False, 1: False, 2: True, 9: False, 97: True, 7919: True}


def is_right(number, answer):
    try:
        return is_prime(number) == answer
    except Exception:
        return False


sum(is_right(number, answer) for number, answer in tried.items())
### END HIDDEN TESTS


# %% nbgrader={"grade": false, "grade_id": "first", "locked": false, "schema_version": 3, "solution": true, "task": false}
def first_primes(count):
    """The first `count` primes, in order."""
    ### BEGIN SOLUTION
    found, n = [], 2
    while len(found) < count:
        if is_prime(n):
            found.append(n)
        n += 1
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "first-five", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
assert first_primes(5) == [2, 3, 5, 7, 11]

# %% nbgrader={"grade": true, "grade_id": "first-none", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert first_primes(0) == []


# %% nbgrader={"grade": true, "grade_id": "faster", "locked": false, "points": 4, "schema_version": 3, "solution": true, "task": false}
# A faster way, and why it is one.
### BEGIN SOLUTION
def sieve(limit):
    """Each number is crossed out once for each of its prime factors."""
    crossed = set()
    for n in range(2, limit):
        if n not in crossed:
            yield n
            crossed.update(range(n * n, limit, n))


### END SOLUTION
