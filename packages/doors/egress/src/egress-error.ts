import { ChainsteadError, type ErrorFacts } from '@chainstead/core';

/** Anything that kept a guarded request from its answer. `code` says what; `retryable` whether the same may work later. */
export class EgressError extends ChainsteadError {}

/** As `defineError`, caught as {@link EgressError}. */
function defineEgressError<Args extends readonly unknown[]>(
  code: string,
  describe: (...args: Args) => Omit<ErrorFacts, 'code' | 'retryable'> & { readonly retryable?: boolean },
): new (
  ...args: Args
) => EgressError {
  return class extends EgressError {
    constructor(...args: Args) {
      super({ code, retryable: false, ...describe(...args) });
    }
  };
}

/** The URL can't be used at all: not a URL, or another protocol than http and https. */
export class InvalidUrlError extends defineEgressError('EGRESS_INVALID_URL', (reason: string) => ({
  message: `URL can't be requested: ${reason}`,
  facts: { reason },
})) {}

/** The host is, or resolves to, an address that outgoing requests must not reach. */
export class BlockedAddressError extends defineEgressError(
  'EGRESS_BLOCKED_ADDRESS',
  (host: string, address: string, range: string) => ({
    message: `${host} resolves to ${address}, which is ${range} and not allowed`,
    facts: { host, address, range },
    remedy: 'Use a public address. On a development machine, add this one to WEBHOOK_ALLOW_PRIVATE',
  }),
) {}

export class DnsFailedError extends defineEgressError('EGRESS_DNS_FAILED', (host: string, cause: unknown) => ({
  message: `${host} could not be resolved`,
  facts: { host },
  retryable: true,
  cause,
})) {}

/** No connection, or one that broke before the whole answer was read. */
export class ConnectionFailedError extends defineEgressError(
  'EGRESS_CONNECTION_FAILED',
  (host: string, reason: string, cause: unknown) => ({
    message: `Request to ${host} failed: ${reason}`,
    facts: { host, reason },
    retryable: true,
    cause,
  }),
) {}

/** The whole request, redirects and body included, took longer than allowed. */
export class EgressTimeoutError extends defineEgressError(
  'EGRESS_TIMEOUT',
  (host: string, timeoutMs: number) => ({
    message: `Request to ${host} took longer than ${timeoutMs} ms`,
    facts: { host, timeout_ms: timeoutMs },
    retryable: true,
  }),
) {}

/** The answer, as sent or after decompression, is larger than allowed. */
export class ResponseTooLargeError extends defineEgressError(
  'EGRESS_RESPONSE_TOO_LARGE',
  (host: string, limitBytes: number) => ({
    message: `Response of ${host} is larger than ${limitBytes} bytes`,
    facts: { host, limit_bytes: limitBytes },
  }),
) {}

/** An unrequested content coding, or data that does not fit its coding. */
export class BadEncodingError extends defineEgressError(
  'EGRESS_BAD_ENCODING',
  (host: string, encoding: string, cause?: unknown) => ({
    message: `Response of ${host} can't be decoded as ${JSON.stringify(encoding.slice(0, 60))}`,
    facts: { host, encoding: encoding.slice(0, 60) },
    cause,
  }),
) {}

export class TooManyRedirectsError extends defineEgressError(
  'EGRESS_TOO_MANY_REDIRECTS',
  (host: string, limit: number) => ({
    message: `${host} redirects more than ${limit} times`,
    facts: { host, limit },
  }),
) {}

/** A piece of the allow-list is neither an address nor a CIDR range. */
export class InvalidAllowListError extends defineEgressError('EGRESS_ALLOW_LIST', (entry: string) => ({
  message: `${JSON.stringify(entry)} is neither an IP address nor a CIDR range`,
  facts: { entry },
  remedy: 'Use ranges such as 10.0.0.0/8 or fd00::/8, separated by commas',
})) {}
