import type { Chain } from '@chainstead/chains';
import type { Address, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ContractReader } from './read-contract.ts';
import type { DocumentReader } from './read-document.ts';

/** Called when a contract is found to be an NFT for the first time. */
export type OnCollection = (chain: Chain, address: Address, requestedBy: string | null) => Promise<void>;

export interface MetadataContext {
  readonly database: Database;
  readonly chain: Chain;
  readonly contracts: ContractReader;
  readonly documents: DocumentReader;
  readonly logger: Logger;
  readonly count: (kind: 'collection' | 'token', outcome: ReadingOutcome) => void;
  readonly onCollection: OnCollection | undefined;
}

export type ReadingOutcome = 'known' | 'document-failed' | 'not-nft' | 'not-contract' | 'none' | 'failed';
