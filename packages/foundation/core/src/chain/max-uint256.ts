/** The largest EVM word: the maximum of an ABI's `uint256` and of a token id. */
export const MAX_UINT256 = 2n ** 256n - 1n;
