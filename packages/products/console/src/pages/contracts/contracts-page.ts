import type { Chain } from '@chainstead/chains';
import {
  addContract,
  type ContractDefinition,
  ContractRefusedError,
  type EventTable,
  readContractStatuses,
  readDefinitions,
  readNewestEvents,
  removeContract,
  type WantedContract,
} from '@chainstead/contracts';
import { keepForSecond, NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage, ConsoleRequest, ConsoleServices } from '../../console-page.ts';
import type { Html } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { chainNamed } from '../explorer/subjects/choose-chain.ts';
import { contractForm, EMPTY_CONTRACT, eventsOfAbi, readContractForm } from './contract-form.ts';
import { type ContractFormFacts, contractFormView, contractListView, eventRowsView } from './contracts-view.ts';

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
    const show = async (request: ConsoleRequest, facts: Pick<ContractFormFacts, 'form' | 'events' | 'problem'>) => ({
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
      const refuse = (problem: string) => show(request, { form, events: 'events' in abi ? abi.events : [], problem });
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
