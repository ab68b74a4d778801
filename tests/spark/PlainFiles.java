import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Local files as the system makes them: without checksums beside them, and with the rights that any new
 * file has. Hadoop sets these anew by a process of chmod for each file and folder, where it has no
 * library of its own: two for a file and its checksum, one for each folder of a partition.
 */
public class PlainFiles extends LocalFileSystem {
  public PlainFiles() {
    super(new Raw());
    setWriteChecksum(false);
    setVerifyChecksum(false);
  }

  public static class Raw extends RawLocalFileSystem {
    public void setPermission(Path path, FsPermission permission) {}
  }
}
