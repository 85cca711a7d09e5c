import type { ConsolePage } from '../console-page.ts';
import { auditPage } from './audit/audit-page.ts';
import { chainPage } from './chains/chain-page.ts';
import { contractsPage } from './contracts/contracts-page.ts';
import { datasetsPage } from './datasets/datasets-page.ts';
import { explorerPage } from './explorer/explorer-page.ts';
import { gatewayPage } from './gateway/gateway-page.ts';
import { graphqlPage } from './graphql/graphql-page.ts';
import { jobsPage } from './jobs/jobs-page.ts';
import { keysPage } from './keys/keys-page.ts';
import { onDemandPage } from './on-demand/on-demand-page.ts';
import { overviewPage } from './overview/overview-page.ts';
import { poolsPage } from './pools/pools-page.ts';
import { sessionsPage } from './sessions/sessions-page.ts';
import { sqlPage } from './sql/sql-page.ts';
import { streamsPage } from './streams/streams-page.ts';
import { tablesPage } from './tables/tables-page.ts';
import { upstreamsPage } from './upstreams/upstreams-page.ts';

export const PAGES: readonly ConsolePage[] = [
  overviewPage,
  chainPage,
  explorerPage,
  streamsPage,
  upstreamsPage,
  gatewayPage,
  datasetsPage,
  contractsPage,
  poolsPage,
  sqlPage,
  graphqlPage,
  tablesPage,
  jobsPage,
  onDemandPage,
  keysPage,
  auditPage,
  sessionsPage,
];
