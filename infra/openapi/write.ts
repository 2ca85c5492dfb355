import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, runCommand } from '../operate/command.ts';
import { openApiDocument } from './document.ts';

const usage = `usage: npm run openapi

Writes functions/openapi.json from the schemas and from what infra/openapi/ says beside them.`;

await runCommand(async () => {
  const { values } = commandLine({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) return console.log(usage);
  const file = join(import.meta.dirname, '..', '..', 'functions', 'openapi.json');
  writeFileSync(file, openApiDocument());
  console.log(`${file} is written.`);
});
