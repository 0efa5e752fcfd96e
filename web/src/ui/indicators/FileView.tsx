import { Anchor, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { address } from '../../api/client'
import { indicatorFileQuery } from '../../api/queries/monitoring/indicator'
import { bytes } from '../../lib/format'
import { QueryResult } from '../layout/QueryResult'
import { useMonitoringText } from '../monitoring/text'

/** The beginning of a file, and the way to all of it. */
export function FileView({ id, title }: { id: string; title: string }) {
  const w = useMonitoringText()
  const query = useQuery(indicatorFileQuery(id))
  return (
    <QueryResult query={query}>
      {(file) => (
        <div className="large-file">
          <Group gap={8} wrap="nowrap" justify="space-between">
            <Text size="xs" c="dimmed" className="clip">
              {file.filename} · {bytes(file.size)}
            </Text>
            <Anchor
              size="xs"
              className="large-download"
              href={address(`/indicator/${id}/file/download`)}
              download={file.filename}
            >
              <Download size={12} aria-hidden="true" /> {w.download}
            </Anchor>
          </Group>
          {/* It scrolls, so keys must reach it. */}
          {file.is_text ? (
            <section aria-label={title} className="large-text" tabIndex={0}>
              {file.text}
              {file.cut ? '…' : ''}
            </section>
          ) : (
            <Text size="sm" mt={8}>
              {w.noText}
            </Text>
          )}
        </div>
      )}
    </QueryResult>
  )
}
