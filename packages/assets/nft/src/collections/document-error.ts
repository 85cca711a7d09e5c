import { ChainsteadError } from '@chainstead/core';

export type DocumentErrorCode =
  | 'DOCUMENT_URI_INVALID'
  /** Not http, https, ipfs, ar or data. */
  | 'DOCUMENT_URI_UNSUPPORTED'
  | 'DOCUMENT_DATA_INVALID'
  | 'DOCUMENT_CID_INVALID'
  | 'DOCUMENT_CID_MISMATCH'
  | 'DOCUMENT_HTTP_STATUS'
  | 'DOCUMENT_TOO_LARGE'
  /** The time for all locations together. */
  | 'DOCUMENT_TIMEOUT'
  | 'DOCUMENT_NOT_JSON'
  | 'DOCUMENT_TOO_DEEP'
  /** Several locations failed in different ways; the message names each. */
  | 'DOCUMENT_GATEWAYS_FAILED';

export class DocumentError extends ChainsteadError {
  constructor(options: {
    readonly code: DocumentErrorCode;
    readonly message: string;
    readonly facts?: Readonly<Record<string, unknown>>;
    readonly retryable?: boolean;
  }) {
    super({ ...options, retryable: options.retryable ?? false });
  }
}
