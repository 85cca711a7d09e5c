/** The largest number that fits the EVM's words: of an ABI's `uint256`, of a token's id. */
export const MAX_UINT256 = 2n ** 256n - 1n;
