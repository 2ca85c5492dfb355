import { MinimalReporter, type TestModule, type TestSpecification } from 'vitest/node';

type RunnerFile = Parameters<MinimalReporter['reportTestSummary']>[0][number];

const slowestShown = 10;
/** Progress lines have this interval when the output is no terminal. */
const saidEverySeconds = 60;

/**
 * Prints one line of progress, each failure with the product's log lines of that test, the slowest files, and one
 * closing line with the counts. The log lines of tests that pass are not printed.
 */
export class QuietReporter extends MinimalReporter {
  private files = 0;
  private filesDone = 0;
  private passed = 0;
  private failed = 0;
  private startedMs = 0;
  private progress: NodeJS.Timeout | undefined;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.files = specifications.length;
    this.startedMs = performance.now();
    this.progress = setInterval(() => this.tell(), this.isTTY ? 500 : saidEverySeconds * 1_000).unref();
  }

  override onTestModuleEnd(module: TestModule): void {
    this.filesDone += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') this.passed += 1;
      if (state === 'failed') this.failed += 1;
    }
    if (module.state() === 'failed') this.clearProgress();
    super.onTestModuleEnd(module);
  }

  override onTestRunEnd(...ended: Parameters<MinimalReporter['onTestRunEnd']>): void {
    clearInterval(this.progress);
    this.clearProgress();
    super.onTestRunEnd(...ended);
  }

  /** Replaces vitest's closing lines, which are eight and have other formats. */
  override reportTestSummary(files: RunnerFile[], errors: unknown[]): void {
    const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`.padStart(8);
    const slowest = files.map((file) => ({ file, tookMs: tookMs(file) })).toSorted((a, b) => b.tookMs - a.tookMs);
    if (slowest.length > 1) {
      this.log(`the slowest of ${files.length} files, of ${seconds(performance.now() - this.startedMs).trim()}:`);
      for (const { file, tookMs } of slowest.slice(0, slowestShown)) {
        this.log(`${seconds(tookMs)}  ${this.relative(file.filepath)}  (${file.projectName})`);
      }
    }
    const tests = files.flatMap(testsOf);
    const count = (state: string) => tests.filter((test) => test.result?.state === state).length;
    const failed = count('fail');
    // A file that cannot be loaded, or a hook that fails, is a failure even when none of its tests failed.
    const besides = files.filter((file) => file.result?.state === 'fail' && !testsOf(file).some(isRed)).length;
    const ran = count('pass') + failed;
    this.log(`${count('pass')} passed, ${failed + besides + errors.length} failed, ${tests.length - ran} skipped`);
  }

  private tell(): void {
    const minutes = ((performance.now() - this.startedMs) / 60_000).toFixed(1);
    const line = `${this.filesDone} of ${this.files} files, ${this.passed} tests passed, ${this.failed} failed, ${minutes} min`;
    if (this.isTTY) process.stdout.write(`\r\u001b[K${line}`);
    else this.log(line);
  }

  private clearProgress(): void {
    if (this.isTTY) process.stdout.write('\r\u001b[K');
  }
}

type RunnerTask = RunnerFile['tasks'][number];
type RunnerTest = Extract<RunnerTask, { type: 'test' }>;

const isRed = (test: RunnerTest) => test.result?.state === 'fail';

function testsOf(task: RunnerTask): RunnerTest[] {
  return task.type === 'test' ? [task] : task.tasks.flatMap(testsOf);
}

/** Returns the time for the file's imports, hooks and tests. */
function tookMs(file: RunnerFile): number {
  return (
    (file.prepareDuration ?? 0) + (file.collectDuration ?? 0) + (file.setupDuration ?? 0) + (file.result?.duration ?? 0)
  );
}
