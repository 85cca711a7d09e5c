import { type AbiEvent, parseEventSignature } from '@chainstead/events/decoding';
import { type EventTable, eventItem, type TableItem } from '../tables/event-table.ts';
import { isNamedEvent } from '../tables/log-shape.ts';
import { type ContractDefinition, ContractRefusedError, type Upgrades } from './contract-definition.ts';
import type { WantedContract } from './wanted-contract.ts';

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
