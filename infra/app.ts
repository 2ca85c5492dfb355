import { join, resolve } from 'node:path';
import { serviceApp } from './service.ts';

// The CDK command line and the local stack run this file. Its output folder is CDK_OUTDIR or cdk.out; context values
// come from the command line or CDK_CONTEXT_JSON.
const { CDK_OUTDIR, CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION } = process.env;
const root = resolve(import.meta.dirname, '..');

try {
  serviceApp({
    bundlesDirectory: join(root, 'dist', 'functions'),
    // Without an account, the CDK's command line still names a region that the operator did not choose.
    region: CDK_DEFAULT_ACCOUNT === undefined ? undefined : CDK_DEFAULT_REGION,
    outputDirectory: resolve(CDK_OUTDIR ?? join(root, 'cdk.out')),
  }).synth();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
