import { Button } from '@mantine/core'
import { Copy } from 'lucide-react'
import { useMemo } from 'react'
import type { Job } from '../../../../api/queries/job'
import { useCopy } from '../../../../ui/copy/useCopy'
import { Section } from '../../../../ui/layout/Section'
import { useWords } from '../../../../ui/text'
import { useJobText } from '../../jobText'

/** The record itself; its log is on its own page. */
export function JsonTab({ job }: { job: Job }) {
  const t = useJobText()
  const w = useWords()
  const { isCopied, copy } = useCopy()
  const text = useMemo(() => {
    const { log: _, ...result } = (job.result ?? {}) as Record<string, unknown>
    return JSON.stringify(job.result ? { ...job, result } : job, null, 2)
  }, [job])
  return (
    <Section
      title={t.json}
      right={
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<Copy size={12} />}
          onClick={() => copy(text)}
        >
          {isCopied ? w.copied : w.copy}
        </Button>
      }
    >
      <pre className="jobs-json" tabIndex={0}>
        {text}
      </pre>
    </Section>
  )
}
