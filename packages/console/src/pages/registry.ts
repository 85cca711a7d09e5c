import type { ConsolePage } from '../console-page.ts';
import { auditPage } from './audit/audit-page.ts';
import { chainPage } from './chains/chain-page.ts';
import { keysPage } from './keys/keys-page.ts';
import { overviewPage } from './overview/overview-page.ts';
import { sessionsPage } from './sessions/sessions-page.ts';
import { streamsPage } from './streams/streams-page.ts';

/** Every page, in the order of the menu. */
export const PAGES: readonly ConsolePage[] = [overviewPage, chainPage, streamsPage, keysPage, auditPage, sessionsPage];
