import { Empty } from './parts.tsx';

/** The service's own reports, as a demo user reads them. */
export function DispatchesPage() {
  return (
    <div class="page">
      <Empty title="No dispatches yet" />
    </div>
  );
}
