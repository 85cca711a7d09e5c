/** The largest number that an ABI's `uint256` holds. */
export const MAX_UINT256 = 2n ** 256n - 1n;
