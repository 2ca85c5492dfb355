import { Empty } from './parts.tsx';

/** The service's people: who wants no marketing, and what they answered, as a demo user reads them. */
export function PeoplePage() {
  return (
    <div class="page">
      <Empty title="Nobody has answered yet" />
    </div>
  );
}
