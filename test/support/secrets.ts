import type { SecretStore } from '../../infra/operate/secret-store.ts';

export type SecretsInMemory = SecretStore & { readonly texts: Map<string, string>; readonly written: string[] };

/** Keeps secrets in memory and counts their writes. */
export function secretsInMemory(): SecretsInMemory {
  const texts = new Map<string, string>();
  const written: string[] = [];
  const write: SecretStore['write'] = async (name, text) => {
    written.push(name);
    texts.set(name, text);
  };
  return { texts, written, read: async (name) => texts.get(name), write, writeOwn: write };
}
