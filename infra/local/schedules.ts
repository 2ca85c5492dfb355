import type { LocalSchedule } from './local-template.ts';

export interface SchedulesOptions {
  readonly schedules: readonly LocalSchedule[];
  readonly runner: {
    invoke(functionId: string, event: unknown): Promise<{ readonly ok: boolean; readonly error?: string }>;
  };
  readonly nameOf: (functionId: string) => string;
  readonly report: (line: string) => void;
}

export interface RunningSchedules {
  stop(): Promise<void>;
}

/** Runs functions at their rates until stopped, the first time after one interval, as EventBridge does. */
export function startSchedules({ schedules, runner, nameOf, report }: SchedulesOptions): RunningSchedules {
  let isStopped = false;
  const run = async (functionId: string) => {
    const result = await runner.invoke(functionId, {}).catch((error: unknown) => ({ ok: false, error: String(error) }));
    if (!result.ok && !isStopped) report(`${nameOf(functionId)} failed (${result.error}); it runs again in its time`);
  };
  const timers = schedules.map(({ functionId, everyMs }) => setInterval(() => void run(functionId), everyMs));
  return {
    stop: async () => {
      isStopped = true;
      for (const timer of timers) clearInterval(timer);
    },
  };
}
