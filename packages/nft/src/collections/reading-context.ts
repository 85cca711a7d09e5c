import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, errorText, type Logger } from '@chainstead/core';
import type { Database, WorkJournal } from '@chainstead/db';
import type { ContractReader } from './read-contract.ts';
import type { DocumentReader } from './read-document.ts';

/** What is done when a contract was found to be an NFT for the first time; `requestedBy` is whose request it was. */
export type OnCollection = (chain: Chain, address: Address, requestedBy: string | null) => Promise<void>;

/** What a job has to work with. */
export interface ReadingContext {
  readonly database: Database;
  readonly chain: Chain;
  readonly contracts: ContractReader;
  readonly documents: DocumentReader;
  readonly logger: Logger;
  /** Where what might end the process is written down. */
  readonly journal: Pick<WorkJournal, 'run'>;
  readonly count: (kind: 'collection' | 'token', outcome: ReadingOutcome) => void;
  readonly onCollection: OnCollection | undefined;
}

export type ReadingOutcome = 'known' | 'document-failed' | 'not-nft' | 'not-contract' | 'none' | 'failed';

/** What failed, as rows keep it; `UNEXPECTED` is a fault of this program. */
export function failureOf(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
} {
  return error instanceof ChainsteadError
    ? { code: error.code, message: error.message, retryable: error.retryable }
    : { code: 'UNEXPECTED', message: errorText(error), retryable: true };
}
