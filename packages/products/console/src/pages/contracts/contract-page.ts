import type { Chain } from '@chainstead/chains';
import {
  bytesColumns,
  type ContractDefinition,
  type ContractStatus,
  type EventTable,
  readContractStatuses,
  readDefinitions,
} from '@chainstead/contracts';
import { NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { button, changeForm } from '../../layout/form.ts';
import {
  code,
  dash,
  type Html,
  livePart,
  NONE,
  NOTHING,
  nameParts,
  note,
  paragraph,
  record,
  section,
  shown,
  soft,
  writeQuery,
} from '../../layout/html.ts';
import { count, moment, plainCount } from '../../layout/numbers.ts';
import { number, table as tableView, wide } from '../../layout/table.ts';
import { chainNamed } from '../explorer/subjects.ts';
import { accountLink } from '../explorer/tables/cells.ts';
import { curlLine, curlView } from '../explorer/tables/data-table.ts';

export function addContractRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { database } = services;
  const events = async (definition: ContractDefinition, chain: Chain): Promise<Html> =>
    eventsView(definition, await readContractStatuses(database, definition.name), chain.key);
  routes.view('/contracts/:name', async (request) => {
    const { definition, chain } = await findContract(request, services);
    const { name } = definition;
    return {
      title: 'Contract',
      heading: shown(name),
      body: html`${note(html`<a href="/console/contracts">Contracts</a> · ${chain.key}`)}
${factsView(definition, chain.key)}
${section(
  'events',
  'Events',
  livePart(contractAddress(name, chain.key).slice('/console'.length), await events(definition, chain)),
  sqlHint(definition),
  curlView(curlLine(request.origin, '/api/v2.2/contracts'), 'API request for the columns'),
)}
<p><a href="${functionsAddress(name, chain.key)}">Read contract</a> ${soft('Calls of view functions')}</p>
${removeForm(name, chain.key, request.token)}`,
    };
  });
  routes.live('/contracts/:name', async (request) => {
    const { definition, chain } = await findContract(request, services);
    return events(definition, chain);
  });
}

export function contractAddress(name: string, chain: string): string {
  return `/console/contracts/${name}?${new URLSearchParams({ chain })}`;
}

export function eventAddress(name: string, event: string): string {
  return `/console/contracts/${name}/${event}`;
}

export function functionsAddress(name: string, chain?: string): string {
  return `/console/contracts/${name}/read-contract${writeQuery({ chain })}`;
}

export async function findContract(
  { parameter, query }: Pick<ConsoleRequest, 'parameter' | 'query'>,
  services: ConsoleServices,
): Promise<{ readonly definition: ContractDefinition; readonly chain: Chain }> {
  const chain = chainNamed(services, query('chain'));
  const definitions = await readDefinitions(services.database, parameter('name'));
  const definition = definitions.find(({ chainId }) => chainId === chain.id);
  if (definition === undefined)
    throw new NotFoundError('There is no such contract on this chain, or it was removed');
  return { definition, chain };
}

const ADDRESSES_SHOWN = 10;

function factsView(definition: ContractDefinition, chain: string): Html {
  const { addresses, factory, firstBlock, upgrades, suspendedReason, createdAt } = definition;
  const link = (address: string): Html => html`<li>${accountLink(address, chain)}</li>`;
  const others = addresses.slice(ADDRESSES_SHOWN);
  const listed = html`<ul class="events">${addresses.slice(0, ADDRESSES_SHOWN).map(link)}</ul>${others.length > 0 && html`<details><summary>${plainCount(others.length)} more</summary><ul class="addresses">${others.map(link)}</ul></details>`}`;
  return record([
    [factory === null ? 'Addresses' : 'Factories', addresses.length === 0 ? NONE : listed],
    [
      'Children',
      factory === null
        ? NONE
        : html`<code>${factory.child}</code> of <code>${factory.event}</code>${factory.of !== null && html`, of the children of <a href="${contractAddress(factory.of, chain)}">${factory.of}</a>`}`,
    ],
    ['First block', firstBlock === null ? 'first block of the history' : count(firstBlock)],
    ['Upgrades', dash(upgrades, ({ event }) => code(event))],
    ['Suspended', dash(suspendedReason, shown)],
    ['Added', moment(createdAt)],
  ]);
}

function eventsView(
  { name, chainId, tables }: ContractDefinition,
  statuses: readonly ContractStatus[],
  chain: string,
): Html {
  const rows = tables.map((table) => {
    const status = statuses.find((of) => of.table === table.name && of.chainId === chainId);
    const { event, view } = table;
    return [
      html`<a href="${eventAddress(name, event)}?chain=${chain}">${event}</a><br>${soft(signatureOf(table))}`,
      ...(status === undefined ? ['', '', ''] : statusCells(status)),
      code(nameParts(view)),
      code(nameParts(`/api/v2.2/contracts/${name}/${event}?chain=${chain}`)),
    ];
  });
  return tableView({
    label: 'Events',
    className: 'rows',
    caption: 'Undecoded: logs that the ABI does not fit. ~ marks an estimate',
    columns: [
      ...[wide('Event', 'text'), number('Rows'), 'Indexed blocks'],
      ...[number('Undecoded'), wide('SQL view', 'text'), wide('API path', 'text')],
    ],
    rows,
  });
}

const RANGES_SHOWN = 3;

export function statusCells(status: ContractStatus): Html[] {
  const { rows, isExact, blocks, undecoded, isMissing, suspendedReason } = status;
  const newest = blocks.slice(-RANGES_SHOWN).toReversed();
  const others = blocks.length - newest.length;
  const ranges = newest.map(({ from, to }, index) => html`${index !== 0 && ', '}${count(from)} to ${count(to)}`);
  const problems = [
    isMissing ? html`<br><strong>Missing:</strong> the table was dropped. Add the contract again.` : NOTHING,
    suspendedReason === null ? NOTHING : html`<br><strong>Suspended:</strong> ${shown(suspendedReason)}`,
  ];
  return [
    html`${!isExact && '~'}${count(rows)}`,
    html`${blocks.length === 0 ? 'none yet' : ranges}${others > 0 && html`, and ${count(others)} more`}${problems}`,
    count(undecoded),
  ];
}

function sqlHint({ tables }: ContractDefinition): Html {
  const [first] = tables.flatMap((table) => [...bytesColumns(table)].slice(0, 1));
  if (first === undefined) return NOTHING;
  const [text, bytes] = first;
  return html`<p class="hint">In SQL, addresses and bytes are texts, which have no index. Conditions on <code>${bytes} = analytics.bytes('0x…')</code> use the index of <code>${text}</code>, if it is an indexed parameter.</p>`;
}

function removeForm(name: string, chain: string, token: string): Html {
  const content = html`${paragraph('Its tables and rows are deleted. This cannot be undone.')}${button('Remove', 'danger')}`;
  return html`<details><summary>Remove this contract</summary>${changeForm('/console/contracts/remove', token, { name, chain }, content, `Remove ${name} from ${chain}`)}</details>`;
}

const SIGNATURE_MAX = 400;

export function signatureOf({ abi }: EventTable): Html {
  return nameParts(abi.signature, SIGNATURE_MAX);
}
