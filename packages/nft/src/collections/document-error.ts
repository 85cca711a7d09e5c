import { ChainsteadError } from '@chainstead/core';

/** What can be wrong with a document that a contract points to, beside what the guarded client refuses (EGRESS_…). */
export type DocumentErrorCode =
  /** Not a URI, or one with user and password, or with a path that leaves its place. */
  | 'DOCUMENT_URI_INVALID'
  /** A protocol other than http, https, ipfs, ar and data. */
  | 'DOCUMENT_URI_UNSUPPORTED'
  /** A data: URI whose payload is not what it says. */
  | 'DOCUMENT_DATA_INVALID'
  | 'DOCUMENT_CID_INVALID'
  /** A gateway gave bytes that are not those of the CID. */
  | 'DOCUMENT_CID_MISMATCH'
  | 'DOCUMENT_HTTP_STATUS'
  | 'DOCUMENT_TOO_LARGE'
  /** The time for all places together ran out. */
  | 'DOCUMENT_TIMEOUT'
  | 'DOCUMENT_NOT_JSON'
  | 'DOCUMENT_TOO_DEEP'
  /** Several places were asked and failed in different ways; the message names each. */
  | 'DOCUMENT_GATEWAYS_FAILED';

/** A document that a contract points to can't be had or read. `retryable`: it may work later. */
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
