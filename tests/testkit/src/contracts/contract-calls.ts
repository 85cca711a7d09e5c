import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError, parseAbi } from 'viem';

export const DEMO_NFT_ABI = parseAbi([
  'function mint(address to, uint256 tokenId)',
  'function transferFrom(address from, address to, uint256 tokenId)',
  'function supportsInterface(bytes4) view returns (bool)',
]);

/** Null where the contract reverts or has no such function. */
export async function unlessReverted<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    const answers = [ContractFunctionRevertedError, ContractFunctionZeroDataError];
    const isAnswer = (cause: unknown) => answers.some((answer) => cause instanceof answer);
    if (error instanceof BaseError && error.walk(isAnswer) !== null) return null;
    throw error;
  }
}
