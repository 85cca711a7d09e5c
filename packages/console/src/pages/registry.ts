import type { ConsolePage } from '../console-page.ts';
import { auditPage } from './audit/audit-page.ts';
import { chainPage } from './chains/chain-page.ts';
import { datasetsPage } from './datasets/datasets-page.ts';
import { gatewayPage } from './gateway/gateway-page.ts';
import { jobsPage } from './jobs/jobs-page.ts';
import { keysPage } from './keys/keys-page.ts';
import { lookUpPage } from './look-up/look-up-page.ts';
import { onDemandPage } from './on-demand/on-demand-page.ts';
import { overviewPage } from './overview/overview-page.ts';
import { sessionsPage } from './sessions/sessions-page.ts';
import { streamsPage } from './streams/streams-page.ts';
import { tablesPage } from './tables/tables-page.ts';
import { upstreamsPage } from './upstreams/upstreams-page.ts';

/** Every page, in the order of the menu; those of a group stand together. */
export const PAGES: readonly ConsolePage[] = [
  overviewPage,
  chainPage,
  lookUpPage,
  streamsPage,
  upstreamsPage,
  gatewayPage,
  datasetsPage,
  tablesPage,
  jobsPage,
  onDemandPage,
  keysPage,
  auditPage,
  sessionsPage,
];
