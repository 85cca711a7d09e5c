import { createWalletHistory } from '@chainstead/answers';
import { sleepUnlessAborted } from '@chainstead/core';
import { stateReaders } from '@chainstead/datasets';
import { createWorkJournal } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import { createJobs } from '@chainstead/jobs';
import { createDocumentReader, createMetadataWorker, createTraitsWorker } from '@chainstead/nft';
import { createEtherPriceWorker } from '@chainstead/prices';
import { createStateWorker } from '@chainstead/state';
import { createHistoricalJobs } from '@chainstead/streams';
import { createKeptSubjects } from '@chainstead/sync';
import { createTokenMetadataWorker } from '@chainstead/tokens';
import { readReceiver, readSender } from '@chainstead/transactions';
import { openPool, startPool } from '../upstream-pools.ts';
import { keepSampling } from './keep-sampling.ts';
import { openNameReader } from './open-name-reader.ts';
import type { RoleContext, RunningRole } from './role.ts';
import { startWebhooks } from './webhooks.ts';

/** How long jobs and webhooks under way may take to end by themselves; what is left undone is found again. Milliseconds. */
const CLOSE_MS = 2_000;
/** How long the work of all chains waits for the upstreams of one. Milliseconds. */
const POOL_WAIT_MS = 5_000;

/** Does the work that must not hold up ingestion: reads token metadata, price feeds, metadata, wallet history; replays streams. */
export async function startWorker(context: RoleContext): Promise<RunningRole> {
  const { configuration, database, databaseUrl, logger, metrics, clock } = context;
  const { redisUrl, onDemand, privateNetworks } = configuration;
  const sessionUrl = configuration.database.sessionUrl ?? databaseUrl;
  const stop = new AbortController();
  const jobs = await createJobs({
    ...(redisUrl === null ? { databaseUrl: sessionUrl } : { redisUrl }),
    logger,
    metrics,
  });
  const chains = configuration.chains.map((configured) => ({
    chain: configured.chain,
    pool: openPool(configured, context),
    policy: configured.proof,
    keep: configured.keep,
  }));
  const starts = chains.map(({ chain, pool }) => startPool(pool, { chain, clock, logger, signal: stop.signal }));
  const enough = new AbortController();
  await Promise.race([Promise.all(starts), sleepUnlessAborted(clock, POOL_WAIT_MS, enough.signal)]);
  enough.abort();
  const journal = createWorkJournal({ database, logger, metrics });
  await journal.start();
  const webhooks = await startWebhooks({ context, chains, journal });
  const tokenFacts = createTokenMetadataWorker({ database, jobs, chains, logger, metrics, journal });
  await tokenFacts.start();
  const egress = createEgress({ allowPrivate: privateNetworks, logger });
  const names = openNameReader(context, { indexed: chains, egress, signal: stop.signal });
  const asked = { chains: [...chains, ...names.unindexed], readers: [...stateReaders, names.reader] };
  await createStateWorker({ ...asked, database, jobs, clock, logger, metrics, journal }).start();
  await createEtherPriceWorker({ database, jobs, chains, logger }).start();
  const walletHistory = createWalletHistory({
    jobs,
    chains: configuration.chains.map(({ chain }) => chain),
    datasets: configuration.datasets,
    ...onDemand,
  });
  await walletHistory.work({ database, chains, clock, logger, metrics, journal, readSender, readReceiver });
  const metadata = createMetadataWorker({
    database,
    jobs,
    chains,
    documents: createDocumentReader({ egress, ...onDemand, clock }),
    logger,
    metrics,
    journal,
    async onCollection(chain, address, requestedBy) {
      // A collection that only a wallet's list mentions is not worth a history of its own.
      if (requestedBy !== null) await walletHistory.requestContract({ database, logger }, chain, address, requestedBy);
    },
  });
  await metadata.start();
  await createTraitsWorker({
    database,
    kept: createKeptSubjects(database, metrics),
    jobs,
    chains: chains.map(({ chain }) => chain),
    documentRate: onDemand.collectionRate,
    logger,
    metrics,
    journal,
  }).start();
  const historicalJobs = createHistoricalJobs({ database, chains, logger, clock, journal }).run(stop.signal);
  const sampling = keepSampling(context, stop.signal);
  return {
    address: null,
    async stop() {
      stop.abort();
      await Promise.all([webhooks.stop(CLOSE_MS), jobs.close(CLOSE_MS)]);
      await Promise.all([historicalJobs, sampling, ...starts]);
      await journal.close();
      await Promise.all([egress.close(), names.close()]);
      await Promise.all(chains.map(({ pool }) => pool.close()));
    },
  };
}
