import { ActionIcon, Badge, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { address } from '../../../../api/client'
import { filesQuery } from '../../../../api/queries/job'
import { bytes } from '../../../../lib/format'
import { QueryResult } from '../../../../ui/layout/QueryResult'
import { Section } from '../../../../ui/layout/Section'
import { useJobText } from '../../jobText'

/** The files that the script left, to take away. */
export function JobFiles({ jobId }: { jobId: string }) {
  const t = useJobText()
  const query = useQuery(filesQuery(jobId))
  return (
    <Section title={t.files}>
      <QueryResult query={query} lines={2}>
        {(files) =>
          files.length === 0 ? (
            <Text size="sm" c="dimmed" p="md">
              {t.noFiles} {t.filesHint}
            </Text>
          ) : (
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t.file}</Table.Th>
                  <Table.Th>{t.size}</Table.Th>
                  <Table.Th aria-label={t.download('')} />
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {files.map((file) => (
                  <Table.Tr key={file.name}>
                    <Table.Td className="mono jobs-break">{file.name}</Table.Td>
                    <Table.Td className="num">
                      {bytes(file.size)}{' '}
                      {file.complete ? null : <Badge className="badge-warn">{t.incomplete}</Badge>}
                    </Table.Td>
                    <Table.Td ta="right">
                      <ActionIcon
                        component="a"
                        aria-label={t.download(file.name)}
                        href={address(`/job/${jobId}/files/${encodeURIComponent(file.name)}`)}
                        download={file.name}
                      >
                        <Download size={14} />
                      </ActionIcon>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </QueryResult>
    </Section>
  )
}
