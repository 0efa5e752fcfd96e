import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { AppLink } from '../../../ui/AppLink'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { JobTail, jobTailQuery } from '../../../ui/run/JobTail'
import { useText } from '../text'

/** The job that "Create and run" started: its state and its output, below the definition. */
export function ThisRun() {
  const { job } = useSearch({ strict: false }) as { job?: string }
  return job ? <RunOutput key={job} id={job} /> : null
}

function RunOutput({ id }: { id: string }) {
  const t = useText()
  const query = useQuery(jobTailQuery(id))
  const box = useRef<HTMLDivElement>(null)
  const isLoaded = query.isSuccess
  // The definition above may fill the window: the new job should be visible.
  useEffect(() => {
    if (isLoaded) box.current?.scrollIntoView({ block: 'end' })
  }, [isLoaded])
  return (
    <div ref={box} className="task-run">
      <Section
        title={t.thisRun}
        padded
        right={
          <Button component={AppLink} to={`/jobs/${id}`} variant="default">
            {t.openJob}
          </Button>
        }
      >
        <QueryResult query={query} lines={4}>
          {(job) => <JobTail job={job} />}
        </QueryResult>
      </Section>
    </div>
  )
}
