import { ChainsteadError } from '@chainstead/core';

/** Problems with a contract's document, in addition to those of the guarded client (EGRESS_…). */
export type DocumentErrorCode =
  /** Not a URI, or one with user and password, or with a path outside its directory. */
  | 'DOCUMENT_URI_INVALID'
  /** A protocol other than http, https, ipfs, ar and data. */
  | 'DOCUMENT_URI_UNSUPPORTED'
  /** A data: URI whose payload does not match its declaration. */
  | 'DOCUMENT_DATA_INVALID'
  | 'DOCUMENT_CID_INVALID'
  /** A gateway returned bytes that do not match the CID. */
  | 'DOCUMENT_CID_MISMATCH'
  | 'DOCUMENT_HTTP_STATUS'
  | 'DOCUMENT_TOO_LARGE'
  /** The total time for all locations ran out. */
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
