import { ChainsteadError } from '@chainstead/core';

/** Anything that kept a guarded request from its answer. `code` says what; `retryable` whether the same may work later. */
export class EgressError extends ChainsteadError {}

/** The URL can't be used at all: not a URL, or another protocol than http and https. */
export class InvalidUrlError extends EgressError {
  constructor(reason: string) {
    super({
      code: 'EGRESS_INVALID_URL',
      message: `URL can't be requested: ${reason}`,
      facts: { reason },
      retryable: false,
    });
  }
}

/** The host is, or resolves to, an address that outgoing requests must not reach. */
export class BlockedAddressError extends EgressError {
  constructor(host: string, address: string, range: string) {
    super({
      code: 'EGRESS_BLOCKED_ADDRESS',
      message: `${host} resolves to ${address}, which is ${range} and not allowed`,
      facts: { host, address, range },
      remedy: 'Use a public address. On a development machine, add this one to WEBHOOK_ALLOW_PRIVATE',
      retryable: false,
    });
  }
}

export class DnsFailedError extends EgressError {
  constructor(host: string, cause: unknown) {
    super({
      code: 'EGRESS_DNS_FAILED',
      message: `${host} could not be resolved`,
      facts: { host },
      retryable: true,
      cause,
    });
  }
}

/** No connection, or one that broke before the whole answer was read. */
export class ConnectionFailedError extends EgressError {
  constructor(host: string, reason: string, cause: unknown) {
    super({
      code: 'EGRESS_CONNECTION_FAILED',
      message: `Request to ${host} failed: ${reason}`,
      facts: { host, reason },
      retryable: true,
      cause,
    });
  }
}

/** The whole request, redirects and body included, took longer than allowed. */
export class EgressTimeoutError extends EgressError {
  constructor(host: string, timeoutMs: number) {
    super({
      code: 'EGRESS_TIMEOUT',
      message: `Request to ${host} took longer than ${timeoutMs} ms`,
      facts: { host, timeout_ms: timeoutMs },
      retryable: true,
    });
  }
}

/** The answer, as sent or after decompression, is larger than allowed. */
export class ResponseTooLargeError extends EgressError {
  constructor(host: string, limitBytes: number) {
    super({
      code: 'EGRESS_RESPONSE_TOO_LARGE',
      message: `Response of ${host} is larger than ${limitBytes} bytes`,
      facts: { host, limit_bytes: limitBytes },
      retryable: false,
    });
  }
}

/** An unrequested content coding, or data that does not fit its coding. */
export class BadEncodingError extends EgressError {
  constructor(host: string, encoding: string, cause?: unknown) {
    super({
      code: 'EGRESS_BAD_ENCODING',
      message: `Response of ${host} can't be decoded as ${JSON.stringify(encoding.slice(0, 60))}`,
      facts: { host, encoding: encoding.slice(0, 60) },
      retryable: false,
      cause,
    });
  }
}

export class TooManyRedirectsError extends EgressError {
  constructor(host: string, limit: number) {
    super({
      code: 'EGRESS_TOO_MANY_REDIRECTS',
      message: `${host} redirects more than ${limit} times`,
      facts: { host, limit },
      retryable: false,
    });
  }
}

/** A piece of the allow-list is neither an address nor a CIDR range. */
export class InvalidAllowListError extends EgressError {
  constructor(entry: string) {
    super({
      code: 'EGRESS_ALLOW_LIST',
      message: `${JSON.stringify(entry)} is neither an IP address nor a CIDR range`,
      facts: { entry },
      remedy: 'Use ranges such as 10.0.0.0/8 or fd00::/8, separated by commas',
      retryable: false,
    });
  }
}
