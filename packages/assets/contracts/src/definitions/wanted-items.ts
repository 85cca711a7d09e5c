import { type AbiEntry, type AbiEvent, readAbi } from '@chainstead/events/decoding';
import { callItem, eventItem, type TableItem } from '../tables/event-table.ts';
import { indexedCount } from '../tables/form-at-log.ts';
import { ContractRefusedError } from './contract-definition.ts';
import type { WantedContract } from './wanted-contract.ts';

export interface WantedItems {
  readonly items: readonly TableItem[];
  readonly named: readonly AbiEvent[];
  readonly skipped: ReadonlyMap<string, number>;
}

const ITEMS_MAX = 256;
const ANONYMOUS = 'an anonymous event';

export function itemsOf(wanted: WantedContract): WantedItems {
  const { name, abi } = wanted;
  const read = readAbi(abi, { anonymousEvents: true, viewFunctions: false, everyLayout: true });
  if (read === null)
    throw new ContractRefusedError(
      'CONTRACT_ABI_MISSING',
      `The file for ${name} contains no ABI`,
      'Give a JSON file with a list of ABI items, or an artifact of Foundry, Hardhat or Truffle',
    );
  const all = read.entries.flatMap((one) => (one.kind === 'event' ? [one.entry] : []));
  const chosen = chosenEvents(wanted, all);
  const left =
    wanted.events === null && wanted.factory !== null ? chosen.filter((one) => one.isAnonymous).length : 0;
  const events = left === 0 ? chosen : chosen.filter((one) => !one.isAnonymous);
  const skipped = left === 0 ? read.skipped : new Map([...read.skipped, [ANONYMOUS, left]]);
  requireOneLayout(name, events);
  const calls = wanted.calls === true ? callsOf(wanted, read.entries) : [];
  const items = [...events.map(eventItem), ...calls];
  if (items.length === 0) {
    const reasons = [...skipped].map(([reason, count]) => `${reason}: ${count}`).join('; ') || 'none';
    throw new ContractRefusedError(
      'CONTRACT_EVENTS_MISSING',
      `The ABI of ${name} has no events`,
      `Skipped items: ${reasons}`,
    );
  }
  if (items.length > ITEMS_MAX)
    throw new ContractRefusedError(
      'CONTRACT_EVENTS_TOO_MANY',
      `The ABI of ${name} has ${items.length} ${calls.length === 0 ? 'events' : 'events and functions'}`,
      `Choose at most ${ITEMS_MAX} of them with --event${calls.length === 0 ? '' : ', or leave --calls out'}`,
    );
  return { items, skipped, named: all.filter((one) => !one.isAnonymous) };
}

function requireOneLayout(name: string, events: readonly AbiEvent[]): void {
  const named = events.filter((one) => !one.isAnonymous);
  const alike = [...Map.groupBy(named, (abi) => `${abi.topic0} ${indexedCount({ abi })}`).values()];
  const [first] = alike.find(({ length }) => length > 1) ?? [];
  if (first !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_EVENT_CHANGED',
      `The ABI of ${name} has ${first.signature} twice, with other indexed parameters, and their number is the same`,
      'Give the ABI of one version. Add that of the other one with --implementation or --upgrade, or under another name',
    );
}

function chosenEvents(
  { name, events: wanted, factory }: WantedContract,
  all: readonly AbiEvent[],
): readonly AbiEvent[] {
  if (wanted === null) return all;
  const isChosen = ({ name: event, signature }: AbiEvent, given: string) =>
    given === event || given === signature;
  const missing = wanted.find((given) => !all.some((event) => isChosen(event, given)));
  if (missing !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_EVENT_UNKNOWN',
      `The ABI of ${name} has no event ${missing}`,
      `It has ${all.map(({ signature }) => signature).join(', ') || 'no events'}`,
    );
  const chosen = all.filter((event) => wanted.some((given) => isChosen(event, given)));
  const anonymous = factory === null ? undefined : chosen.find((event) => event.isAnonymous);
  if (anonymous !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_EVENT_ANONYMOUS',
      `${anonymous.signature} of ${name} is anonymous, and logs of children are found by the signature of their event`,
      'Leave the event out, or add the children by their addresses',
    );
  return chosen;
}

function callsOf({ name, chain }: WantedContract, entries: readonly AbiEntry[]): readonly TableItem[] {
  if (chain.transactions.mode !== 'all')
    throw new ContractRefusedError(
      'CONTRACT_CALLS_UNAVAILABLE',
      `Calls of ${name} can't be decoded, because transactions of ${chain.key} are not indexed`,
      `Set TRANSACTIONS_${chain.key.toUpperCase().replaceAll('-', '_')}=all, or leave --calls out`,
    );
  const calls = entries.flatMap((one) => (one.kind === 'function' ? [callItem(one.entry)] : []));
  if (calls.length === 0)
    throw new ContractRefusedError(
      'CONTRACT_FUNCTIONS_MISSING',
      `The ABI of ${name} has no functions that change state`,
      'Give the complete ABI, or leave --calls out',
    );
  return calls;
}
