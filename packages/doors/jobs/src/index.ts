/** Background work: rows that become due (due-work/), functions at intervals (schedules/). */

export { dueChannel, notifyDue, TOKEN_FACTS_WORK } from './due-work/due-channel.ts';
export {
  type Claim,
  claimDue,
  type DueTable,
  failDue,
  failureOf,
  isClaimed,
  SETTLED,
} from './due-work/due-table.ts';
export { createSettledWatch } from './due-work/due-work.ts';
export { backoffSeconds } from './due-work/retry-delay.ts';
