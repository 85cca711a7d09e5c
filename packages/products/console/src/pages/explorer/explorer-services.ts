import type { AptosNetwork } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { InnerApi } from '@chainstead/http';
import type { PictureReader } from '@chainstead/nft';
import type { HashPlace } from '@chainstead/node-reads';
import type { NameService } from '@chainstead/tokens/names';

export interface ExplorerServices {
  readonly chains: readonly Chain[];
  readonly networks: readonly AptosNetwork[];
  readonly data: InnerApi;
  readonly reads: ReadDatabase;
  /** Null: no node has the hash; undefined: no node responded in time. */
  placeOf(chain: Chain, hash: Hash): Promise<HashPlace | null | undefined>;
  /** Without addresses that no node returned in time. */
  hasCodeOf(chain: Chain, addresses: readonly Address[]): Promise<ReadonlyMap<Address, boolean>>;
  readonly pictures: PictureReader;
  readonly nameServices: readonly NameService[];
}
