import { ChainsteadError, errorText } from '@chainstead/core';

/** `truncated`: cut off or damaged. `aborted`: by the caller. */
export type TransportFault = 'connection' | 'timeout' | 'truncated' | 'not-json' | 'too-large' | 'aborted';

/** The HTTP request to the node failed or returned no usable response. */
export class TransportError extends ChainsteadError {
  readonly kind: TransportFault;

  constructor(kind: TransportFault, message: string, cause?: unknown) {
    super({ code: 'TRANSPORT', message, facts: { kind }, retryable: true, cause });
    this.kind = kind;
  }
}

export function isStaleConnection(error: unknown): boolean {
  return errorCode(error) === 'UND_ERR_SOCKET' || errorCode(error) === 'ECONNRESET';
}

export function toTransportError(error: unknown, answerBytesMax: number): TransportError {
  if (error instanceof TransportError) return error;
  const code = errorCode(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'ERR_BUFFER_TOO_LARGE')
    return new TransportError('too-large', `the answer exceeds ${answerBytesMax} bytes`, error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new TransportError('timeout', errorText(error), error);
  if (
    code.startsWith('Z_') ||
    code.startsWith('ERR__ERROR_FORMAT') ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  )
    return new TransportError('truncated', `the body is damaged: ${errorText(error)}`, error);
  return new TransportError('connection', errorText(error) || code || 'connection failed', error);
}

function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
