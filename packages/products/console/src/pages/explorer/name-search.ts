import { findTokens } from '@chainstead/prices';
import { type ConsoleRoutes, type ConsoleServices, jsonFile } from '../../console-page.ts';
import { cut, type Html, NONE, note, section, shown } from '../../layout/html.ts';
import { table } from '../../layout/table.ts';
import { accountLink } from './tables/cells.ts';

const QUERY_MAX = 128;
const FOUND_MAX = 50;
const SUGGESTED_MAX = 8;
const NAME_MAX = 60;

type FoundToken = Awaited<ReturnType<typeof findTokens>>[number];

/** Tokens and NFT collections whose name or symbol contains the text. */
export async function findByName(
  { explorer: { reads, chains } }: Pick<ConsoleServices, 'explorer'>,
  text: string,
  limit = FOUND_MAX,
): Promise<readonly FoundToken[]> {
  if (text === '' || [...text].length > QUERY_MAX || chains.length === 0) return [];
  return findTokens(reads, chains, text, limit);
}

export function foundView(found: readonly FoundToken[], { registry }: Pick<ConsoleServices, 'registry'>): Html {
  const rows = found.map(({ address, chainId, symbol, name, verified, possibleSpam }) => {
    const chain = registry.get(chainId).key;
    const notes = [...(verified ? ['listed'] : []), ...(possibleSpam ? ['spam?'] : [])].join(', ');
    return [textOrNone(symbol), textOrNone(name), chain, accountLink(address, chain), notes || NONE];
  });
  return section(
    'found',
    'Tokens and collections',
    table({
      label: 'Tokens and collections',
      className: 'rows',
      columns: ['Symbol', 'Name', 'Chain', 'Address', 'Notes'],
      rows,
    }),
    found.length === FOUND_MAX && note(`There may be more than these ${FOUND_MAX}.`),
  );
}

/** The page's script shows them below the field. */
export function addSuggestionRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  routes.view('/look-up/suggestions.json', async ({ query }) => {
    const found = await findByName(services, query('q')?.trim() ?? '', SUGGESTED_MAX);
    const suggestions = found.map(({ address, chainId, symbol, name, possibleSpam }) => {
      const words = [symbol ?? '', name ?? '', services.registry.get(chainId).key, possibleSpam ? 'spam?' : ''];
      return { address, text: words.flatMap((word) => cut(word, NAME_MAX) || []).join(' · ') };
    });
    return jsonFile(suggestions);
  });
}

function textOrNone(text: string | null): Html {
  return text === null || text === '' ? NONE : shown(text, NAME_MAX);
}
