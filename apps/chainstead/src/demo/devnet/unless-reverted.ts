import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError } from 'viem';

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
