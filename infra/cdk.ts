import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { buildFunctions } from './build.ts';

// `npm run synth` and `npm run deploy`: builds the functions, then hands over to the CDK command line, with the
// arguments given: `npm run deploy -- -c stage=prod -c alarmTopicArn=arn:...`.
const commands = { synth: ['synth', '--quiet'], deploy: ['deploy', '--all'] } as const;

const root = resolve(import.meta.dirname, '..');
const [command, ...commandArguments] = process.argv.slice(2);
if (command !== 'synth' && command !== 'deploy') {
  console.error('usage: node infra/cdk.ts synth|deploy [ARGUMENT ...]');
  process.exit(2);
}
await buildFunctions({ functionsDirectory: join(root, 'functions'), outputDirectory: join(root, 'dist') });
const commandLine = join(dirname(createRequire(import.meta.url).resolve('aws-cdk/package.json')), 'bin', 'cdk');
const child = spawn(process.execPath, [commandLine, ...commands[command], ...commandArguments], {
  cwd: root,
  stdio: 'inherit',
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
