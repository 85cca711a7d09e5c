import type { NameAnswer } from './name-question.ts';

/**
 * Where names are resolved. Both throw UpstreamsExhaustedError or StateUnavailableError (retryable) where nodes or gateways are away: that a name leads
 * nowhere is only what its contracts say.
 */
export interface Names {
  /** The address of a normalised name, as EIP-55 writes it. */
  addressOf(name: string, signal: AbortSignal): Promise<NameAnswer>;
  /** The name of an address, where that leads back to it. */
  nameOf(address: string, signal: AbortSignal): Promise<NameAnswer>;
}
