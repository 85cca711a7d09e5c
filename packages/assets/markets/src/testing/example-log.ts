import { type Address, parseHash } from '@chainstead/core';
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, parseAbiItem } from 'viem';
import type { EventLog } from '../events/pool-event.ts';

/**
 * A log of an event, as a contract emits it.
 * @param declaration `Swap(address indexed sender, uint256 amount0In, …)`
 */
export function exampleLog(
  declaration: string,
  args: Readonly<Record<string, unknown>>,
  address: Address,
): EventLog {
  const event = parseAbiItem(`event ${declaration}`) as AbiEvent;
  const inData = event.inputs.filter((input) => input.indexed !== true);
  const data = encodeAbiParameters(
    inData,
    inData.map(({ name }) => args[name ?? '']),
  );
  const topics = encodeEventTopics({ abi: [event], eventName: event.name, args });
  return { address, topics: topics.flat().map(parseHash), data };
}
