import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type AbiEvent, parseEventSignature } from '@chainstead/events/decoding';
import { type EventTable, eventItem, type LogPlace, type TableItem } from '../tables/event-table.ts';
import { isNamedEvent } from '../tables/form-at-log.ts';
import {
  type ChildFrom,
  type ContractDefinition,
  ContractRefusedError,
  type Upgrades,
} from './contract-definition.ts';

export interface WantedContract {
  readonly name: string;
  readonly chain: Chain;
  readonly addresses: readonly Address[];
  /** Null: the addresses emit the events. */
  readonly factory: WantedFactory | null;
  /** Parsed JSON, unchecked: an ABI, or an artifact with one. */
  readonly abi: unknown;
  readonly firstBlock: number | null;
  /** Names or signatures; null: all. */
  readonly events: readonly string[] | null;
  readonly indexed: readonly string[];
  /** Tables for functions that change state. @default false */
  readonly calls?: boolean;
  /** Since when events have this form, with as many indexed parameters. @default none */
  readonly upgrade?: LogPlace | null;
  /** Proxies' implementation: events have this form while a proxy has it. @default none */
  readonly implementation?: Address | null;
}

export function parseLogPlace(text: string): LogPlace | null {
  const [, block, log] = /^(\d{1,15}):(\d{1,9})$/.exec(text) ?? [];
  return block === undefined || log === undefined ? null : { block: Number(block), log: Number(log) };
}

interface WantedFactory {
  /** Its children are the factories; null: the addresses are. */
  readonly of: string | null;
  readonly event: string;
  readonly child: string;
  /** @default transaction */
  readonly childFrom?: ChildFrom | undefined;
}

const INDEXED_MAX = 3;

export function creationEvent({ event: given, child }: WantedFactory): AbiEvent {
  const event = parseEventSignature(`event ${given.replace(/^event\s+/, '')}`);
  if (event === null || event.inputs.filter(({ isIndexed }) => isIndexed).length > INDEXED_MAX)
    throw new ContractRefusedError(
      'CONTRACT_FACTORY_EVENT_INVALID',
      `${JSON.stringify(given)} does not declare an event`,
      "Use a declaration with the names of parameters, such as --event 'PoolCreated(address indexed token0, address pool)'",
    );
  const input = event.inputs.find(({ name }) => name === child);
  if (input === undefined)
    throw new ContractRefusedError(
      'CONTRACT_CHILD_INVALID',
      `${event.name} has no parameter ${JSON.stringify(child)}`,
      `Choose one with --child: ${event.inputs.map(({ name }) => name || 'one without a name').join(', ') || 'it has none'}`,
    );
  if (input.type !== 'address')
    throw new ContractRefusedError(
      'CONTRACT_CHILD_INVALID',
      `The parameter ${child} of ${event.name} has the type ${input.type}`,
      'Choose a parameter of the type address with --child',
    );
  return event;
}

/** @throws ContractRefusedError if `of` has no factory on the chain */
export function requireParent(
  { of }: WantedFactory,
  chain: Chain,
  definitions: readonly ContractDefinition[],
): void {
  if (of === null) return;
  const parent = definitions.find(({ name, chainId }) => name === of && chainId === chain.id);
  if (parent === undefined || parent.factory === null)
    throw new ContractRefusedError(
      'CONTRACT_FACTORY_UNKNOWN',
      `There is no contract ${of} with children on ${chain.key}`,
      'Give addresses with --factory, or the name of a contract that was added with --factory',
    );
}

/** @see https://eips.ethereum.org/EIPS/eip-1967 */
const UPGRADED = upgradedEvent();

/** @throws ContractRefusedError */
export function withUpgraded(
  { name, factory, upgrade, implementation }: WantedContract,
  items: readonly TableItem[],
): readonly TableItem[] {
  if ((implementation ?? null) === null) return items;
  if (factory !== null)
    throw new ContractRefusedError(
      'CONTRACT_IMPLEMENTATION_INVALID',
      `${name} has a factory, and implementations of its children are not known`,
      'Leave --implementation out, or add the children by their addresses',
    );
  if ((upgrade ?? null) !== null)
    throw new ContractRefusedError(
      'CONTRACT_IMPLEMENTATION_INVALID',
      '--implementation and --upgrade exclude each other',
      'Leave one of them out',
    );
  return items.some(isUpgraded) ? items : [...items, eventItem(UPGRADED)];
}

/** @param firstBlock null: the first one of the chain's history */
export function upgradesFor(
  { chain, implementation }: WantedContract,
  own: ContractDefinition | undefined,
  tables: readonly EventTable[],
  firstBlock: number | null,
): Upgrades | null {
  const known = own?.upgrades ?? null;
  const table = tables.find(isUpgraded);
  const [column] = table?.parameters ?? [];
  if (table === undefined || column === undefined) return known;
  if (known === null && (implementation ?? null) === null) return null;
  return { event: table.event, column: column.name, firstBlock: firstBlock ?? chain.firstBlock };
}

function isUpgraded(item: TableItem): boolean {
  const { topic0, inputs } = item.abi;
  return isNamedEvent(item) && topic0 === UPGRADED.topic0 && inputs.every(({ isIndexed }) => isIndexed);
}

function upgradedEvent(): AbiEvent {
  const event = parseEventSignature('event Upgraded(address indexed implementation)');
  if (event === null) throw new RangeError('Upgraded is no event');
  return event;
}
