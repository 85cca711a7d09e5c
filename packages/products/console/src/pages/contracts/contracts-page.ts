import type { Chain } from '@chainstead/chains';
import {
  addContract,
  bytesColumns,
  type ContractDefinition,
  ContractRefusedError,
  type ContractStatus,
  type EventTable,
  type ListedEvent,
  readContractStatuses,
  readDefinitions,
  readNewestEvents,
  removeContract,
  type WantedContract,
} from '@chainstead/contracts';
import { NotFoundError } from '@chainstead/http';
import { keepForSecond } from '@chainstead/http/server';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage, ConsoleRequest, ConsoleServices } from '../../console-page.ts';
import { changeForm, hidden } from '../../layout/form.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { count, counted, moment } from '../../layout/numbers.ts';
import { number, table as tableView } from '../../layout/table.ts';
import { chainNamed } from '../explorer/subjects.ts';
import {
  type ContractFormFacts,
  contractForm,
  contractFormView,
  EMPTY_CONTRACT,
  eventsOfAbi,
  readContractForm,
} from './contract-form.ts';

const ROWS = 20;
const EVENT = '/contracts/:name/:event';
const FORM_BYTES_MAX = 4_000_000;
const removeForm = z.object({ name: z.string(), chain: z.string() });

export const contractsPage: ConsolePage = {
  path: '/contracts',
  title: 'Contracts',
  group: 'Data',
  formBytesMax: FORM_BYTES_MAX,
  addRoutes(routes, services) {
    const { database, explorer, registry } = services;
    const chainsOf = { registry, chains: explorer.chains };
    const readList = () => Promise.all([readDefinitions(database), readContractStatuses(database)]);
    const sharedList = keepForSecond(readList);
    const listed = async (list: ReturnType<typeof readList>, { token }: ConsoleRequest): Promise<Html> =>
      contractListView(...(await list), token, (id) => registry.find(id)?.key ?? String(id));
    const show = async (
      request: ConsoleRequest,
      facts: Pick<ContractFormFacts, 'form' | 'events' | 'problem'>,
    ) => ({
      title: 'Contracts',
      body: html`<h1>Contracts</h1>
${livePart('/contracts', await listed(readList(), request))}
${contractFormView({ ...facts, chains: explorer.chains, token: request.token })}`,
    });
    routes.view('/contracts', (request) => show(request, { form: EMPTY_CONTRACT, events: [], problem: null }));
    routes.live('/contracts', (request) => listed(sharedList(), request));
    routes.change('/contracts/check', contractForm, async (request) => {
      const { form } = request;
      const read = eventsOfAbi(form.abi);
      if ('problem' in read) return show(request, { form, events: [], problem: read.problem });
      const chosen = form.events.filter((event) => read.events.includes(event));
      const events = chosen.length === 0 ? read.events : chosen;
      return show(request, { form: { ...form, events: [...events] }, events: read.events, problem: null });
    });
    routes.change('/contracts/add', contractForm, async (request) => {
      const { form, by } = request;
      const abi = eventsOfAbi(form.abi);
      const refuse = (problem: string) =>
        show(request, { form, events: 'events' in abi ? abi.events : [], problem });
      const read = readContractForm(form, explorer.chains);
      if ('problem' in read) return refuse(read.problem);
      const withoutCode = form.strict === '' ? null : await codeProblem(explorer, read.wanted);
      if (withoutCode !== null) return refuse(withoutCode);
      try {
        await addContract(database, read.wanted, by);
      } catch (error) {
        if (!(error instanceof ContractRefusedError)) throw error;
        return refuse(error.message);
      }
      return { goTo: '/console/contracts' };
    });
    routes.change('/contracts/remove', removeForm, async ({ form, by }) => {
      await removeContract(database, form.name, chainNamed(chainsOf, form.chain).id, by);
      return { goTo: '/console/contracts' };
    });
    const rows = async (request: ConsoleRequest): Promise<Html> => {
      const chain = chainNamed(chainsOf, request.query('chain') ?? '');
      const { definition, table } = await findEvent(services, chain, request);
      return eventRowsView(definition, table, chain, await readNewestEvents(explorer.reads, chain, table, ROWS));
    };
    routes.view(EVENT, async (request) => {
      const { parameter, query } = request;
      const path = `/contracts/${encodeURIComponent(parameter('name'))}/${encodeURIComponent(parameter('event'))}`;
      const content = await rows(request);
      return {
        title: 'Contract',
        body: livePart(`${path}?${new URLSearchParams({ chain: query('chain') ?? '' })}`, content),
      };
    });
    routes.live(EVENT, rows);
  },
};

const CODES_MAX = 100;

async function codeProblem(
  explorer: ConsoleServices['explorer'],
  { chain, addresses }: Pick<WantedContract, 'chain' | 'addresses'>,
): Promise<string | null> {
  const read = addresses.slice(0, CODES_MAX);
  const codes = await explorer.hasCodeOf(chain, read);
  const [bare] = read.filter((address) => codes.get(address) === false);
  if (bare !== undefined) return `${bare} has no code on ${chain.key}. Check the address and the chain`;
  const [unread] = read.filter((address) => !codes.has(address));
  return unread === undefined
    ? null
    : `No node of ${chain.key} returned the code of ${unread} in time. Retry, or untick Strict`;
}

async function findEvent(
  { database }: ConsoleServices,
  chain: Chain,
  { parameter }: ConsoleRequest,
): Promise<{ readonly definition: ContractDefinition; readonly table: EventTable }> {
  const definitions = await readDefinitions(database, parameter('name'));
  const definition = definitions.find(({ chainId }) => chainId === chain.id);
  const table = definition?.tables.find(({ event }) => event === parameter('event'));
  if (definition === undefined || table === undefined)
    throw new NotFoundError('There is no such contract or event on this chain, or it was removed');
  return { definition, table };
}

const SIGNATURE_MAX = 400;
const VALUE_MAX = 80;
const RANGES_SHOWN = 3;

function contractListView(
  definitions: readonly ContractDefinition[],
  statuses: readonly ContractStatus[],
  token: string,
  chainName: (id: number) => string,
): Html {
  const rows = definitions.flatMap((definition) => {
    const chain = chainName(definition.chainId);
    return definition.tables.map((table, index) => {
      const address = `/console/contracts/${definition.name}/${table.event}?chain=${encodeURIComponent(chain)}`;
      const status = statuses.find((of) => of.table === table.name && of.chainId === definition.chainId);
      return [
        index === 0 ? contractCell(definition, chain, token) : NOTHING,
        shown(chain),
        html`<a href="${address}">${shown(table.event)}</a><br><code class="soft">${signatureOf(table)}</code>`,
        ...(status === undefined ? ['', '', ''] : statusCells(status)),
      ];
    });
  });
  return tableView({
    label: 'Contracts',
    caption:
      'Rows count all chains that share a table. ~ marks an estimate. Undecoded: logs that the ABI does not fit',
    columns: ['Contract', 'Chain', 'Event', number('Rows'), 'Indexed blocks', number('Undecoded')],
    none: html`No contract has been added yet. Add one below, or with <code>chainstead contracts add</code>.`,
    rows,
  });
}

function contractCell({ name, addresses }: ContractDefinition, chain: string, token: string): Html {
  const remove = html`${hidden({ name, chain })}<p>Its tables and rows are deleted. This cannot be undone.</p><button class="danger">Remove</button>`;
  const form = changeForm('/console/contracts/remove', token, remove, `Remove ${name} from ${chain}`);
  return html`${shown(name)}<br><span class="soft">${counted(addresses.length, 'address', 'addresses')}</span>
<details><summary>Remove <span class="soft">${shown(name)}</span></summary>${form}</details>`;
}

function statusCells({ rows, isExact, blocks, undecoded, isMissing, suspendedReason }: ContractStatus): Html[] {
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

function eventRowsView(
  definition: ContractDefinition,
  table: EventTable,
  chain: Chain,
  rows: readonly ListedEvent[],
): Html {
  const { parameters, view, event } = table;
  const path = `/api/v2.2/contracts/${definition.name}/${event}?chain=${chain.key}`;
  const [first] = bytesColumns(table);
  const list = tableView({
    label: 'Newest rows',
    caption: 'Newest first',
    none: 'No rows yet.',
    columns: [
      ...[number('Block'), number('Log'), 'Time', 'Contract'],
      ...parameters.map(({ name, type }) => (type === 'numeric' ? number(shown(name)) : shown(name))),
    ],
    rows: rows.map(({ block, block_number: blockNumber, log_index: log, contract, params }) => [
      count(blockNumber),
      count(log),
      moment(new Date(block.block_timestamp)),
      html`<code>${contract}</code>`,
      ...parameters.map(({ name }) => {
        const value = params[name] ?? null;
        if (value === null) return '–';
        return shown(typeof value === 'string' ? value : JSON.stringify(value), VALUE_MAX);
      }),
    ]),
  });
  return html`<h1>${shown(definition.name)}: ${shown(event)}</h1>
<p class="soft"><a href="/console/contracts">Contracts</a> · ${shown(chain.key)} · <code>${signatureOf(table)}</code></p>
<p>SQL: <code>${view}</code>. API: <code>${path}</code></p>
${first !== undefined && html`<p class="hint">In SQL, addresses and bytes are texts, which have no index. Conditions on <code>${shown(first[1])} = analytics.bytes('0x…')</code> use the index of <code>${shown(first[0])}</code>, if it is an indexed parameter.</p>`}
${list}`;
}

function signatureOf({ abi }: EventTable): Html {
  return shown(abi.signature, SIGNATURE_MAX);
}
