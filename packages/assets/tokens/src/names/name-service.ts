import type { NameAnswer } from './name-question.ts';

/** @throws UpstreamsExhaustedError, StateUnavailableError (retryable) */
export interface Names {
  /** With EIP-55 checksum. */
  addressOf(name: string, signal: AbortSignal): Promise<NameAnswer>;
  /** Only if the name leads back to the address. */
  nameOf(address: string, signal: AbortSignal): Promise<NameAnswer>;
}
