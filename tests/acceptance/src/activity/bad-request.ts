/** Requests to operations that say what happened, and what is answered. `{cursor}` is filled in from the stage. */
import type { TableRequest } from '../request-table.ts';
import { type ActivityOperation, activityOperation, HASH, WALLET } from './activity-operations.ts';

/** What of a request is not as its operation has it. */
interface Given {
  /** For `{it}` in the path, encoded. */
  readonly it?: string;
  readonly query?: string;
  /** Whether what it needs is left out. */
  readonly withoutNeeds?: boolean;
  readonly sent?: string;
  readonly contentType?: string;
  readonly about?: string;
}

const SEGMENTS = {
  ...{ address: WALLET, account: WALLET, contract: WALLET },
  ...{ chain: 'eth', domain: 'vitalik.eth', hash: HASH, place: '1' },
};

/** A request as it should be, with some of it replaced. */
export function request(operation: ActivityOperation, given: Given, status: number, body: unknown): TableRequest {
  const { it = operation.segment === undefined ? '' : SEGMENTS[operation.segment.kind], about } = given;
  const query = [given.withoutNeeds === true ? undefined : operation.needs, given.query]
    .filter(Boolean)
    .join('&');
  const path = operation.path.replace('{it}', it);
  const sent = given.sent ?? (operation.body === undefined ? undefined : JSON.stringify(operation.body));
  return {
    operation: operation.name,
    method: sent === undefined ? 'GET' : 'POST',
    path: query === '' ? path : `${path}?${query}`,
    ...(sent !== undefined && { contentType: given.contentType ?? 'application/json', sent }),
    ...(about !== undefined && { about }),
    status,
    body,
  };
}

/** A 400. */
export const refused = (name: string, given: Given, body: unknown): TableRequest =>
  request(activityOperation(name), given, 400, body);

/** A 400 for a body; text as it is. */
export const refusedBody = (name: string, sent: unknown, body: unknown, about?: string): TableRequest =>
  refused(
    name,
    { sent: typeof sent === 'string' ? sent : JSON.stringify(sent), ...(about !== undefined && { about }) },
    body,
  );
