import type { AptosNetwork } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { InnerApi } from '@chainstead/http';
import type { NameService } from '@chainstead/names';
import type { PictureReader } from '@chainstead/nft';
import type { HashPlace } from '@chainstead/node-reads';

export interface ExplorerServices {
  /** Those of the configuration, in its order. */
  readonly chains: readonly Chain[];
  readonly networks: readonly AptosNetwork[];
  /** The data API: tables show its responses. */
  readonly data: InnerApi;
  /** Reads for requests. */
  readonly reads: ReadDatabase;
  /** Null: no node has the hash; undefined: no node responded in time. */
  placeOf(chain: Chain, hash: Hash): Promise<HashPlace | null | undefined>;
  /** Whether there are contracts at addresses. Those that no node returned in time are missing. */
  hasCodeOf(chain: Chain, addresses: readonly Address[]): Promise<ReadonlyMap<Address, boolean>>;
  readonly pictures: PictureReader;
  /** Name services whose contracts can be read. */
  readonly nameServices: readonly NameService[];
}
