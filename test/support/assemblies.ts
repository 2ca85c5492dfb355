import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functions } from '../../infra/functions.ts';
import { serviceApp } from '../../infra/service.ts';
import { settingChoices } from './setting-choices.ts';

/** Makes a folder with an empty bundle for each function; `done` removes it. */
export function stubBundles(names: readonly string[] = Object.keys(functions)) {
  const directory = mkdtempSync(join(tmpdir(), 'bundles-'));
  for (const name of names) {
    mkdirSync(join(directory, 'functions', name), { recursive: true });
    writeFileSync(join(directory, 'functions', name, 'index.mjs'), 'export const handler = async () => ({});\n');
  }
  return {
    bundlesDirectory: join(directory, 'functions'),
    outputDirectory: join(directory, 'cdk.out'),
    done: () => rmSync(directory, { recursive: true, force: true }),
  };
}

// The process of infra-build.ts synthesizes each choice of settings into a subfolder with its name.
if (import.meta.main) {
  const { bundlesDirectory, done } = stubBundles();
  try {
    for (const [choice, context] of Object.entries(settingChoices)) {
      const outputDirectory = join(process.argv[2] ?? '', choice);
      serviceApp({ bundlesDirectory, outputDirectory, context, rulesApply: false }).synth();
    }
  } finally {
    done();
  }
}
