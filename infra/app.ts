import { join, resolve } from 'node:path';
import { serviceApp } from './service.ts';

// The CDK command line runs this file (cdk.json), and so does whoever wants the templates without it: the output folder
// is CDK_OUTDIR or cdk.out, context values come from the command line or from CDK_CONTEXT_JSON.
const { CDK_OUTDIR, CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION } = process.env;
const root = resolve(import.meta.dirname, '..');

try {
  serviceApp({
    bundlesDirectory: join(root, 'dist', 'functions'),
    // Without an account the CDK's command line names a region all the same, which nobody has chosen.
    region: CDK_DEFAULT_ACCOUNT === undefined ? undefined : CDK_DEFAULT_REGION,
    outputDirectory: resolve(CDK_OUTDIR ?? join(root, 'cdk.out')),
  }).synth();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
