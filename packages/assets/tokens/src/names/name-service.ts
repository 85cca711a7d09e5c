import type { NameAnswer } from './name-question.ts';

/**
 * Both throw UpstreamsExhaustedError or StateUnavailableError (retryable) if nodes or gateways are unavailable: only its
 * contracts can say that a name leads nowhere.
 */
export interface Names {
  /** With EIP-55 checksum. */
  addressOf(name: string, signal: AbortSignal): Promise<NameAnswer>;
  /** Only if the name leads back to the address. */
  nameOf(address: string, signal: AbortSignal): Promise<NameAnswer>;
}
