import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError } from 'viem';

/** What a contract answers; null when it reverts or has no such function. Whatever else fails is thrown: it says nothing of the contract. */
export async function unlessReverted<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof BaseError && error.walk(isContractsAnswer) !== null) return null;
    throw error;
  }
}

function isContractsAnswer(error: unknown): boolean {
  return error instanceof ContractFunctionRevertedError || error instanceof ContractFunctionZeroDataError;
}
