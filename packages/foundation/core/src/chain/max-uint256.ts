export const MAX_UINT256 = 2n ** 256n - 1n;
