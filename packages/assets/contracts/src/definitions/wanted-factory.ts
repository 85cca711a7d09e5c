import type { Chain } from '@chainstead/chains';
import { type AbiEvent, parseEventSignature } from '@chainstead/events/decoding';
import { type ChildFrom, type ContractDefinition, ContractRefusedError } from './contract-definition.ts';

export interface WantedFactory {
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
