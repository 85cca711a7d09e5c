import {
  addContract,
  type ContractDefinition,
  ContractRefusedError,
  type ContractStatus,
  readContractStatuses,
  readDefinitions,
  removeContract,
  type WantedContract,
} from '@chainstead/contracts';
import { keepForSecond } from '@chainstead/http/server';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage, ConsoleRequest, ConsoleServices, View } from '../../console-page.ts';
import { type Html, livePart, NOTHING, shown, soft } from '../../layout/html.ts';
import { counted } from '../../layout/numbers.ts';
import { number, table as tableView } from '../../layout/table.ts';
import { chainNamed } from '../explorer/subjects.ts';
import {
  type ContractForm,
  type ContractFormFacts,
  contractForm,
  contractFormView,
  EMPTY_CONTRACT,
  eventsOfAbi,
  readContractForm,
  readSourceText,
} from './contract-form.ts';
import { addContractRoutes, contractAddress, eventAddress, signatureOf, statusCells } from './contract-page.ts';
import { addEventRoutes } from './event-page.ts';
import { addFunctionRoutes } from './functions-page.ts';

const FORM_BYTES_MAX = 4_000_000;
const removeForm = z.object({ name: z.string(), chain: z.string() });

export const contractsPage: ConsolePage = {
  path: '/contracts',
  title: 'Contracts',
  group: 'Data',
  formBytesMax: FORM_BYTES_MAX,
  addRoutes(routes, services) {
    const { database, explorer, chainName } = services;
    const readList = () => Promise.all([readDefinitions(database), readContractStatuses(database)]);
    const sharedList = keepForSecond(readList);
    const listed = async (list: ReturnType<typeof readList>): Promise<Html> =>
      contractListView(...(await list), chainName);
    const show = async (
      request: ConsoleRequest,
      facts: Pick<ContractFormFacts, 'form' | 'events' | 'problem'>,
    ): Promise<View> => ({
      body: html`${livePart('/contracts', await listed(readList()))}
${contractFormView({ ...facts, chains: explorer.chains, source: explorer.abiSource, token: request.token })}`,
    });
    routes.view('/contracts', (request) => show(request, { form: EMPTY_CONTRACT, events: [], problem: null }));
    routes.live('/contracts', () => listed(sharedList()));
    const check = async (request: ConsoleRequest, form: ContractForm): Promise<View> => {
      const read = eventsOfAbi(form.abi);
      if ('problem' in read) return show(request, { form, events: [], problem: read.problem });
      const chosen = form.events.filter((event) => read.events.includes(event));
      const events = chosen.length === 0 ? read.events : chosen;
      return show(request, { form: { ...form, events: [...events] }, events: read.events, problem: null });
    };
    routes.change('/contracts/check', contractForm, (request) => check(request, request.form));
    routes.change('/contracts/abi', contractForm, async (request) => {
      const { form } = request;
      const chain = explorer.chains.find(({ key }) => key === form.chain);
      const read = await readSourceText(explorer.abiSource, chain, form.addresses);
      if ('problem' in read) return show(request, { form, events: [], problem: read.problem });
      return check(request, { ...form, abi: read.text, events: [] });
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
      return { goTo: contractAddress(read.wanted.name, read.wanted.chain.key) };
    });
    routes.change('/contracts/remove', removeForm, async ({ form, by }) => {
      await removeContract(database, form.name, chainNamed(services, form.chain).id, by);
      return { goTo: '/console/contracts' };
    });
    addContractRoutes(routes, services);
    addFunctionRoutes(routes, services);
    addEventRoutes(routes, services);
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
    : `No upstream of ${chain.key} returned the code of ${unread} in time. Retry, or untick Strict`;
}

function contractListView(
  definitions: readonly ContractDefinition[],
  statuses: readonly ContractStatus[],
  chainName: (id: number) => string,
): Html {
  const rows = definitions.flatMap((definition) => {
    const chain = chainName(definition.chainId);
    const { name, addresses } = definition;
    const link = html`<a href="${contractAddress(name, chain)}">${shown(name)}</a><br>${soft(counted(addresses.length, 'address', 'addresses'))}`;
    return definition.tables.map((table, index) => {
      const status = statuses.find((of) => of.table === table.name && of.chainId === definition.chainId);
      return [
        index === 0 ? link : NOTHING,
        shown(chain),
        html`<a href="${eventAddress(name, table.event)}?chain=${encodeURIComponent(chain)}">${shown(table.event)}</a><br><code class="soft">${signatureOf(table)}</code>`,
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
